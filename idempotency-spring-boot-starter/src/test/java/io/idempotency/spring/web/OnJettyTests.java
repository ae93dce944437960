package io.idempotency.spring.web;

import org.junit.jupiter.api.Nested;

/** What is true on Tomcat is true on Jetty. */
class OnJettyTests {

    @Nested
    class Keys extends KeyHeaderHttpTests {

        @Override
        Container container() {
            return Container.JETTY;
        }
    }

    @Nested
    class Bodies extends BodyHttpTests {

        @Override
        Container container() {
            return Container.JETTY;
        }
    }

    @Nested
    class Responses extends ResponseHttpTests {

        @Override
        Container container() {
            return Container.JETTY;
        }
    }

    @Nested
    class Outcomes extends OutcomeHttpTests {

        @Override
        Container container() {
            return Container.JETTY;
        }
    }

    @Nested
    class AsynchronousResponses extends AsyncHttpTests {

        @Override
        Container container() {
            return Container.JETTY;
        }
    }
}
