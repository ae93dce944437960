package io.idempotency.jdbc;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What a class logs on the thread of the test; others run beside it. */
final class Logs {

    private Logs() {}

    static List<ILoggingEvent> of(Class<?> type, Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(type);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        try {
            work.run();
        } finally {
            logger.detachAppender(appender);
        }
        String own = Thread.currentThread().getName();
        return appender.list.stream()
                .filter(event -> event.getThreadName().equals(own))
                .toList();
    }
}
