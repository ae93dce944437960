package io.idempotency.spring.web;

import io.idempotency.spring.web.WebSettings.AnonymousCallers;
import java.util.List;
import org.springframework.util.unit.DataSize;

/** The settings of an application that configures what a test says, and nothing else. */
final class TestWebSettings {

    private final WebSettings defaults = WebSettings.defaults();
    private String header = defaults.header();
    private DataSize maxRequestSize = defaults.maxRequestSize();
    private DataSize maxResponseSize = defaults.maxResponseSize();
    private DataSize maxSpillSize = defaults.maxSpillSize();
    private AnonymousCallers anonymous = defaults.anonymous();
    private String replayedHeader = defaults.replayedHeader();
    private List<String> replayHeaders = defaults.replayHeaders();
    private String problemTypeBase = defaults.problemTypeBase();

    TestWebSettings header(String header) {
        this.header = header;
        return this;
    }

    TestWebSettings maxRequestSize(DataSize maxRequestSize) {
        this.maxRequestSize = maxRequestSize;
        return this;
    }

    TestWebSettings maxResponseSize(DataSize maxResponseSize) {
        this.maxResponseSize = maxResponseSize;
        return this;
    }

    TestWebSettings maxSpillSize(DataSize maxSpillSize) {
        this.maxSpillSize = maxSpillSize;
        return this;
    }

    TestWebSettings anonymous(AnonymousCallers anonymous) {
        this.anonymous = anonymous;
        return this;
    }

    TestWebSettings replayedHeader(String replayedHeader) {
        this.replayedHeader = replayedHeader;
        return this;
    }

    TestWebSettings replayHeaders(String... replayHeaders) {
        this.replayHeaders = List.of(replayHeaders);
        return this;
    }

    TestWebSettings problemTypeBase(String problemTypeBase) {
        this.problemTypeBase = problemTypeBase;
        return this;
    }

    WebSettings build() {
        return new WebSettings(
                header,
                maxRequestSize,
                maxResponseSize,
                maxSpillSize,
                anonymous,
                replayedHeader,
                replayHeaders,
                problemTypeBase);
    }
}
