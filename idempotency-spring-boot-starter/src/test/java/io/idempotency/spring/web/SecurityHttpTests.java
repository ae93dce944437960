package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spring.web.WebSettings.AnonymousCallers;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AnonymousAuthenticationFilter;
import org.springframework.security.web.authentication.HttpStatusEntryPoint;
import org.springframework.security.web.context.HttpSessionSecurityContextRepository;
import org.springframework.security.web.context.SecurityContextRepository;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.filter.OncePerRequestFilter;

/** Cases 121, 124 and 127: whose key it is, behind Spring Security with a catch-all chain, CSRF and method security. */
class SecurityHttpTests {

    @AutoClose
    private static final TestServer server = TestServer.start(Secured.class);

    private final String key = TestServer.newKey();

    private Answer pay(String user, String path, String body, String... more) {
        String[] headers = Arrays.copyOf(more, more.length + (user == null ? 0 : 2));
        if (user != null) {
            headers[more.length] = "X-User";
            headers[more.length + 1] = user;
        }
        return server.post(path, key, body, headers);
    }

    private Answer pay(String user, String body) {
        return pay(user, "/secured/pay", body);
    }

    /** Case 121. */
    @Test
    void givesEveryUserRecordsOfTheirOwn() {
        Answer alice = pay("alice", "{}");
        Answer bob = pay("bob", "{}");
        Answer bobOther = pay("bob", "{\"other\":1}");
        Answer aliceAgain = pay("alice", "{}");

        assertThat(alice.status()).isEqualTo(200);
        assertThat(alice.text()).contains("alice");
        assertThat(bob.status()).isEqualTo(200);
        assertThat(bob.replayed()).isFalse();
        assertThat(bob.text()).contains("bob").doesNotContain("alice");
        assertThat(bobOther.problem()).isEqualTo("key-reused");
        assertThat(aliceAgain.replayed()).isTrue();
        assertThat(aliceAgain.body()).isEqualTo(alice.body());
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** Case 121: the session variant. */
    @Test
    void knowsTheUserOfASession() {
        Answer alice = pay("alice", "/secured/session", "{}");
        String cookie = alice.header("Set-Cookie").split(";")[0];
        Answer again = pay(null, "/secured/session", "{}", "Cookie", cookie);
        Answer bob = pay("bob", "/secured/session", "{}");

        assertThat(again.replayed()).isTrue();
        assertThat(bob.replayed()).isFalse();
    }

    /** Case 121: a login gives the session another id; the user stays the same. */
    @Test
    void knowsTheUserAfterALoginHasChangedTheSession() {
        Answer first = pay("alice", "/secured/session", "{}");
        String before = first.header("Set-Cookie").split(";")[0];
        Answer changing = pay(null, "/secured/session", "{}", "Cookie", before, "X-Change-Session", "true");
        String after = changing.header("Set-Cookie").split(";")[0];
        Answer retry = pay(null, "/secured/session", "{}", "Cookie", after);

        assertThat(after).isNotEqualTo(before);
        assertThat(changing.replayed()).isTrue();
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers("Set-Cookie"))
                .as("neither session is replayed")
                .isEmpty();
        assertThat(pay(null, "/secured/session", "{}", "Cookie", before).status())
                .isEqualTo(401);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** A permission that a rule about the URL gives is asked for again before a replay. */
    @Test
    void standsBehindTheRulesAboutUrls() {
        Permissions permissions = server.bean(Permissions.class);
        permissions.granted.add("dave");
        Answer first = pay("dave", "/ruled/pay", "{}");
        Answer replay = pay("dave", "/ruled/pay", "{}");
        permissions.granted.remove("dave");
        Answer revoked = pay("dave", "/ruled/pay", "{}");
        permissions.granted.add("dave");
        Answer again = pay("dave", "/ruled/pay", "{}");

        assertThat(first.status()).isEqualTo(200);
        assertThat(replay.replayed()).isTrue();
        assertThat(revoked.status()).isEqualTo(403);
        assertThat(revoked.text()).doesNotContain("dave");
        assertThat(revoked.headers("Idempotent-Replayed")).isEmpty();
        assertThat(again.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 124. */
    @Test
    void standsBehindAuthentication() {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();
        Answer without = pay(null, "{}");
        Answer forged = pay("alice", "/csrf/pay", "{}");
        assertThat(store.drain()).as("nobody has claimed anything").isEmpty();
        Answer with = pay("alice", "{}");
        Answer withoutAgain = pay(null, "{}");

        assertThat(without.status()).isEqualTo(401);
        assertThat(with.status()).isEqualTo(200);
        assertThat(with.replayed()).isFalse();
        assertThat(withoutAgain.status()).isEqualTo(401);
        assertThat(withoutAgain.headers("Idempotent-Replayed")).isEmpty();
        assertThat(forged.status()).isEqualTo(403);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Method security is asked before a handler, and its refusal is not stored. */
    @Test
    void standsBehindMethodSecurity() {
        Permissions permissions = server.bean(Permissions.class);
        Answer refused = pay("carol", "/secured/guarded", "{}");
        permissions.granted.add("carol");
        Answer first = pay("carol", "/secured/guarded", "{}");
        Answer replay = pay("carol", "/secured/guarded", "{}");
        permissions.granted.remove("carol");
        Answer revoked = pay("carol", "/secured/guarded", "{}");

        assertThat(refused.status()).isEqualTo(403);
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.replayed()).isFalse();
        assertThat(replay.replayed()).isTrue();
        assertThat(revoked.status()).isEqualTo(403);
        assertThat(revoked.text()).doesNotContain("carol");
        assertThat(revoked.headers("Idempotent-Replayed")).isEmpty();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void refusesAnonymousCallersWhereThatIsWanted() {
        Answer answer = pay(null, "/open/pay", "{}");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.problem()).isEqualTo("caller-unknown");
        assertThat(server.effects().of(key)).isZero();
    }

    /** Where a login has no name, all who have none would share their records. */
    @Test
    void refusesACallerWithoutAName() {
        Answer answer = pay("", "{}");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.problem()).isEqualTo("caller-unknown");
        assertThat(server.effects().of(key)).isZero();
    }

    /** A business key belongs to the tenant: the same for all of its users, and another one for every other tenant. */
    @Test
    void keepsBusinessKeysOfTenantsApart() {
        Answer first = pay("alice", "/secured/place", "{}", "X-Tenant", "one");
        Answer otherUser = pay("bob", "/secured/place", "{}", "X-Tenant", "one");
        Answer otherTenant = pay("alice", "/secured/place", "{}", "X-Tenant", "two");

        assertThat(first.status()).isEqualTo(200);
        assertThat(otherUser.replayed()).isTrue();
        assertThat(otherTenant.status()).isEqualTo(200);
        assertThat(otherTenant.replayed()).isFalse();
        assertThat(server.effects().of(key)).isEqualTo(2);
        assertThat(pay("alice", "/secured/place", "{}", "X-Tenant", "nobody").problem())
                .isEqualTo("caller-unknown");
    }

    /** Case 93: what the resolver adds is part of the scope, for the same user as well. */
    @Test
    void keepsTheTenantsOfOneUserApart() {
        Answer one = pay("alice", "/secured/pay", "{}", "X-Tenant", "one");
        Answer two = pay("alice", "/secured/pay", "{}", "X-Tenant", "two");

        assertThat(one.status()).isEqualTo(200);
        assertThat(two.status()).isEqualTo(200);
        assertThat(two.replayed()).isFalse();
        assertThat(pay("alice", "/secured/pay", "{}", "X-Tenant", "one").replayed())
                .isTrue();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** Case 127: the same parts, cut at another place. */
    @ParameterizedTest
    @ValueSource(strings = {":", "|", "/", "#", " ", "%3A", " 1:", "\u00e9"})
    void keepsUsersAndTenantsApartWhereverTheyAreCut(String cut) {
        Answer one = pay("a" + cut + "b", "/secured/pay", "{\"n\":1}", "X-Tenant", "c");
        Answer other = pay("a", "/secured/pay", "{\"n\":2}", "X-Tenant", "b" + cut + "c");
        Answer third = pay("a" + cut + "b" + cut + "c", "/secured/pay", "{\"n\":3}");

        assertThat(new int[] {one.status(), other.status(), third.status()}).containsOnly(200);
        assertThat(server.effects().of(key)).isEqualTo(3);
    }

    @Test
    void refusesACallerWhomTheResolverDoesNotKnow() {
        assertThat(pay("alice", "/secured/pay", "{}", "X-Tenant", "nobody").problem())
                .isEqualTo("caller-unknown");
    }

    static final class Permissions {

        final Set<String> granted = ConcurrentHashMap.newKeySet();

        public boolean has(String user) {
            return granted.contains(user);
        }
    }

    @RestController
    @RequestMapping
    static class SecuredHandlers {

        private final Effects effects;

        SecuredHandlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping({"/secured/pay", "/csrf/pay", "/open/pay", "/ruled/pay"})
        @Idempotent
        Map<String, Object> pay(@RequestHeader("Idempotency-Key") String key, Principal principal) {
            return Map.of("user", principal.getName(), "n", effects.add(key));
        }

        @PostMapping("/secured/place")
        @Idempotent(key = "#key")
        Map<String, Object> place(@RequestHeader("Idempotency-Key") String key, Principal principal) {
            return pay(key, principal);
        }

        @PostMapping("/secured/guarded")
        @PreAuthorize("@permissions.has(authentication.name)")
        @Idempotent
        Map<String, Object> guarded(@RequestHeader("Idempotency-Key") String key, Principal principal) {
            return pay(key, principal);
        }

        @PostMapping("/secured/session")
        @Idempotent
        Map<String, Object> session(
                @RequestHeader("Idempotency-Key") String key, Principal principal, HttpServletRequest request) {
            return pay(key, principal);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableMethodSecurity
    @ImportAutoConfiguration({SecurityAutoConfiguration.class, SecurityFilterAutoConfiguration.class})
    @Import({LibraryConfiguration.class, Servers.InMemory.class, SecuredHandlers.class})
    static class Secured {

        /** The gate of rules is there, too, and no way past the one of annotated handlers. */
        @Bean
        static RuleGate ruleGate(ObjectProvider<FilterRegistrationBean<IdempotencyFilter>> filter) {
            return new RuleGate(() -> filter.getObject().getFilter());
        }

        @Bean
        static Permissions permissions() {
            return new Permissions();
        }

        @Bean
        WebSettings webSettings() {
            return new TestWebSettings().anonymous(AnonymousCallers.REFUSE).build();
        }

        @Bean
        KeyScopeResolver keyScopeResolver() {
            return operation -> {
                HttpServletRequest request =
                        ((ServletRequestAttributes) RequestContextHolder.currentRequestAttributes()).getRequest();
                String tenant = request.getHeader("X-Tenant");
                return tenant == null ? "" : tenant.equals("nobody") ? null : tenant;
            };
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http, Permissions permissions) throws Exception {
            SecurityContextRepository repository = new HttpSessionSecurityContextRepository();
            return http.authorizeHttpRequests(requests -> requests.requestMatchers("/open/**", "/error")
                            .permitAll()
                            .requestMatchers("/ruled/**")
                            .access((user, request) -> new AuthorizationDecision(
                                    permissions.has(user.get().getName())))
                            .anyRequest()
                            .authenticated())
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/secured/**", "/open/**", "/ruled/**"))
                    .exceptionHandling(failures ->
                            failures.authenticationEntryPoint(new HttpStatusEntryPoint(HttpStatus.UNAUTHORIZED)))
                    .securityContext(context -> context.securityContextRepository(repository))
                    .addFilterBefore(new UserHeaderFilter(repository), AnonymousAuthenticationFilter.class)
                    .build();
        }
    }

    /** Believes a header, and remembers the user in the session where the path asks for it. */
    private static final class UserHeaderFilter extends OncePerRequestFilter {

        private final SecurityContextRepository repository;

        UserHeaderFilter(SecurityContextRepository repository) {
            this.repository = repository;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String user = request.getHeader("X-User");
            if (user != null) {
                SecurityContext context = SecurityContextHolder.createEmptyContext();
                context.setAuthentication(UsernamePasswordAuthenticationToken.authenticated(
                        user, "", AuthorityUtils.createAuthorityList("ROLE_USER")));
                SecurityContextHolder.setContext(context);
                if (request.getRequestURI().endsWith("/session")) {
                    repository.saveContext(context, request, response);
                }
            }
            if (request.getHeader("X-Change-Session") != null) {
                request.changeSessionId();
            }
            chain.doFilter(request, response);
        }
    }
}
