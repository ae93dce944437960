package io.idempotency.boot;

import io.idempotency.boot.TransactionManagers.Found.Manager;
import io.idempotency.boot.TransactionManagers.Found.None;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Finds the transaction manager that applies to a method: the one that its {@code @Transactional} will use, else the configured one. */
final class TransactionManagers {

    private static final String PROPERTY = "idempotency.jdbc.transaction-manager";

    private final ListableBeanFactory beanFactory;
    private final @Nullable TransactionManager configured;

    /**
     * @param name of the configured manager
     * @param qualified the manager that the application has marked
     */
    TransactionManagers(
            ListableBeanFactory beanFactory, @Nullable String name, @Nullable TransactionManager qualified) {
        this.beanFactory = beanFactory;
        this.configured = name == null ? qualified : named(name);
    }

    private TransactionManager named(String name) {
        try {
            return beanFactory.getBean(name, TransactionManager.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw IdempotencyConfigurationException.ofProperty(
                    PROPERTY, name, "is not the name of a transaction manager bean", "There are: " + names() + ".");
        }
    }

    private String names() {
        return String.join(", ", beanFactory.getBeanNamesForType(TransactionManager.class));
    }

    /**
     * @param attribute of the method; null if it is not transactional, or for the template
     * @param targetClass class of the method's bean
     */
    Found find(@Nullable TransactionAttribute attribute, @Nullable Class<?> targetClass) {
        if (attribute == null) {
            return configured == null ? byDefault() : found(configured);
        }
        String qualifier = attribute.getQualifier();
        if (StringUtils.hasText(qualifier)) {
            return qualified(qualifier, "its @Transactional names");
        }
        String ofType = targetClass == null ? null : BeanFactoryAnnotationUtils.getQualifierValue(targetClass);
        if (StringUtils.hasText(ofType) && qualified(ofType, "its class names") instanceof Manager manager) {
            return manager;
        }
        return byDefault();
    }

    private Found qualified(String qualifier, String who) {
        try {
            return found(
                    BeanFactoryAnnotationUtils.qualifiedBeanOfType(beanFactory, TransactionManager.class, qualifier));
        } catch (NoSuchBeanDefinitionException e) {
            return new None(who + " the transaction manager '" + qualifier + "', which does not exist");
        }
    }

    private Found byDefault() {
        TransactionManagementConfigurer configurer = beanFactory
                .getBeanProvider(TransactionManagementConfigurer.class)
                .getIfUnique();
        if (configurer != null) {
            return found(configurer.annotationDrivenTransactionManager());
        }
        TransactionManager only =
                beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
        if (only != null) {
            return found(only);
        }
        String names = names();
        return new None(
                names.isEmpty()
                        ? "there is no transaction manager"
                        : "there are several transaction managers and none of them is primary (" + names + "), and "
                                + PROPERTY + " names none of them");
    }

    private static Found found(TransactionManager manager) {
        return manager instanceof PlatformTransactionManager platform
                ? new Manager(platform)
                : new None("its transaction manager is reactive");
    }

    /** A manager, or the reason why there is none. */
    sealed interface Found {

        /** The manager that applies. */
        record Manager(PlatformTransactionManager manager) implements Found {}

        /** @param reason completes the sentence "EXACTLY_ONCE cannot hold: …" */
        record None(String reason) implements Found {}
    }
}
