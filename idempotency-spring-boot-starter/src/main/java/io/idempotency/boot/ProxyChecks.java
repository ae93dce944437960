package io.idempotency.boot;

import java.util.Arrays;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Looks whether calls of a bean pass an advisor. */
final class ProxyChecks {

    private ProxyChecks() {}

    /**
     * A bean that is created later is proxied by the same creator.
     *
     * @throws IdempotencyConfigurationException if calls of the bean do not pass the advisor
     */
    static void check(
            ConfigurableListableBeanFactory beanFactory,
            String beanName,
            Class<?> userClass,
            Class<? extends Advisor> advisor) {
        Object bean = beanFactory.containsSingleton(beanName) ? beanFactory.getSingleton(beanName) : null;
        boolean proxied = bean == null || bean instanceof ScopedObject
                ? beanFactory.containsBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
                : passes(bean, advisor) || isUnknownProduct(beanFactory, beanName, bean);
        if (!proxied) {
            throw new IdempotencyConfigurationException(
                    "@Idempotent on " + userClass.getName() + " would not protect it: bean '" + beanName
                            + "' is not proxied",
                    "Remove spring.aop.auto=false (and, without AspectJ, spring.aop.proxy-target-class=false), exclude no"
                            + " AopAutoConfiguration, and let no BeanPostProcessor need this bean.");
        }
    }

    // What is registered is the factory, and its product is proxied when it is asked for.
    private static boolean isUnknownProduct(ConfigurableListableBeanFactory beanFactory, String beanName, Object bean) {
        return bean instanceof org.springframework.beans.factory.FactoryBean
                && beanFactory.containsBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME);
    }

    private static boolean passes(Object bean, Class<? extends Advisor> advisor) {
        Object current = bean;
        while (current instanceof Advised proxy) {
            if (Arrays.stream(proxy.getAdvisors()).anyMatch(advisor::isInstance)) {
                return true;
            }
            current = AopProxyUtils.getSingletonTarget(current);
        }
        // An opaque proxy does not tell its advisors.
        return current != null && AopUtils.isAopProxy(current);
    }
}
