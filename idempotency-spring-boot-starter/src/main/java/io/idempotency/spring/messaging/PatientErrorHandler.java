package io.idempotency.spring.messaging;

import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Keeps a record whose first delivery still runs until that one has ended, and one that came while the store was silent until it
 * answers: the record is delivered again after a pause, however often, and never counts as failed. Everything else is left to the
 * application's handler.
 *
 * @since 0.1.0
 */
public final class PatientErrorHandler implements CommonErrorHandler {

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final Duration PAUSE_OF_THE_STORE = Duration.ofSeconds(1);

    private final CommonErrorHandler delegate;
    private final DefaultErrorHandler patient;

    /**
     * @param delegate the application's handler; what cannot become better by trying again is marked as not retryable in it
     */
    public PatientErrorHandler(CommonErrorHandler delegate) {
        this.delegate = delegate;
        this.patient = new DefaultErrorHandler(
                new FixedBackOff(PAUSE_OF_THE_STORE.toMillis(), FixedBackOff.UNLIMITED_ATTEMPTS));
        patient.setBackOffFunction((record, failure) -> {
            Duration pause = pauseAfter(failure);
            return pause == null ? null : new FixedBackOff(pause.toMillis(), FixedBackOff.UNLIMITED_ATTEMPTS);
        });
        patient.setSeekAfterError(delegate.seeksAfterHandling());
        NotRetryable.in(delegate);
    }

    private static Duration pause(OperationInProgressException busy) {
        Duration wanted = busy.retryAfter();
        if (wanted.compareTo(SHORTEST_PAUSE) < 0) {
            return SHORTEST_PAUSE;
        }
        return wanted.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : wanted;
    }

    /** How long the record has to wait; null if waiting does not help. */
    private static @Nullable Duration pauseAfter(Throwable failure) {
        int depth = 0;
        for (Throwable each = failure; each != null && depth < 20; each = each.getCause(), depth++) {
            if (each instanceof OperationInProgressException busy) {
                return pause(busy);
            }
            if (each instanceof StoreUnavailableException) {
                return PAUSE_OF_THE_STORE;
            }
        }
        return null;
    }

    private CommonErrorHandler handlerOf(Exception failure) {
        return pauseAfter(failure) == null ? delegate : patient;
    }

    @Override
    public boolean seeksAfterHandling() {
        return delegate.seeksAfterHandling();
    }

    @Override
    public boolean deliveryAttemptHeader() {
        return delegate.deliveryAttemptHeader();
    }

    @Override
    public int deliveryAttempt(TopicPartitionOffset offset) {
        return delegate.deliveryAttempt(offset);
    }

    @Override
    public void handleOtherException(
            Exception failure, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batch) {
        delegate.handleOtherException(failure, consumer, container, batch);
    }

    @Override
    public boolean handleOne(
            Exception failure,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        return handlerOf(failure).handleOne(failure, record, consumer, container);
    }

    @Override
    public void handleRemaining(
            Exception failure,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        handlerOf(failure).handleRemaining(failure, records, consumer, container);
    }

    @Override
    public void handleBatch(
            Exception failure,
            ConsumerRecords<?, ?> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        handlerOf(failure).handleBatch(failure, records, consumer, container, invokeListener);
    }

    @Override
    public <K, V> ConsumerRecords<K, V> handleBatchAndReturnRemaining(
            Exception failure,
            ConsumerRecords<?, ?> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        return handlerOf(failure).handleBatchAndReturnRemaining(failure, records, consumer, container, invokeListener);
    }

    @Override
    public void clearThreadState() {
        patient.clearThreadState();
        delegate.clearThreadState();
    }

    @Override
    public boolean isAckAfterHandle() {
        return delegate.isAckAfterHandle();
    }

    @Override
    public void setAckAfterHandle(boolean ack) {
        delegate.setAckAfterHandle(ack);
    }

    @Override
    public void onPartitionsAssigned(
            Consumer<?, ?> consumer, Collection<TopicPartition> partitions, Runnable publishPause) {
        delegate.onPartitionsAssigned(consumer, partitions, publishPause);
    }
}
