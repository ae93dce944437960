package kotlin.coroutines;

/** What the last parameter of a suspending function is called. */
public interface Continuation<T> {}
