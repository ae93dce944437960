package io.idempotency.it.payments.child;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.filter.OncePerRequestFilter;

/** Puts failpoints under the sample where the system property {@code failpoints} is set. */
@AutoConfiguration
@ConditionalOnBooleanProperty("failpoints")
public final class FailpointAutoConfiguration {

    @Bean
    static BeanPostProcessor failpointDataSources() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                return bean instanceof DataSource dataSource ? new FailpointDataSource(dataSource) : bean;
            }
        };
    }

    @Bean
    Announcements announcements() {
        return new Announcements();
    }

    @Bean
    FailpointFilter failpointFilter() {
        return new FailpointFilter();
    }

    /** Arms a failpoint for the request that asks for it; {@code GET /failpoints} lists the calls since then. */
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static final class FailpointFilter extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            if (request.getRequestURI().equals("/failpoints")) {
                String loss = request.getParameter("loss");
                if (loss != null) {
                    Failpoints.loseConnections(Double.parseDouble(loss));
                }
                response.setContentType("text/plain");
                response.getWriter().print(String.join("\n", Failpoints.calls()));
                return;
            }
            String command = request.getHeader("X-Failpoint");
            if (command != null) {
                Failpoints.arm(command);
            }
            chain.doFilter(request, response);
        }
    }
}
