/** Stands for Kotlin, which is not here. */
package kotlin.coroutines;
