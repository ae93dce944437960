package io.idempotency.boot;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** DataSources for contexts. */
final class TestDataSources {

    private TestDataSources() {}

    /** A new database in memory, which lives as long as the JVM. */
    static DataSource h2() {
        return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "");
    }

    /** A new database that Spring Boot does not take for an embedded one. */
    static DataSource h2InAFile() {
        return new DriverManagerDataSource(
                "jdbc:h2:file:./target/h2/" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "");
    }

    static DataSource unreachable() {
        return dataSource(() -> {
            throw new SQLTransientConnectionException("no route to host");
        });
    }

    /** A database that says this name and does nothing else. */
    static DataSource ofProduct(String name) {
        DatabaseMetaData metaData = proxy(
                DatabaseMetaData.class,
                (method, returnType) -> method.startsWith("getDatabaseProduct") ? name : nothing(returnType));
        return dataSource(() -> proxy(
                Connection.class,
                (method, returnType) -> method.equals("getMetaData") ? metaData : nothing(returnType)));
    }

    static int records(DataSource dataSource) {
        return new JdbcTemplate(dataSource).queryForObject("select count(*) from idempotency_record", Integer.class);
    }

    static boolean hasTable(DataSource dataSource) {
        return new JdbcTemplate(dataSource)
                        .queryForObject(
                                "select count(*) from information_schema.tables where upper(table_name) ="
                                        + " 'IDEMPOTENCY_RECORD'",
                                Integer.class)
                == 1;
    }

    private static DataSource dataSource(Connecting connecting) {
        return (DataSource) Proxy.newProxyInstance(
                TestDataSources.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> method.getName().equals("getConnection")
                        ? connecting.connect()
                        : nothing(method.getReturnType()));
    }

    private static <T> T proxy(Class<T> type, Answering answering) {
        return type.cast(Proxy.newProxyInstance(
                TestDataSources.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answering.answer(method.getName(), method.getReturnType())));
    }

    @SuppressWarnings("NullAway")
    private static Object nothing(Class<?> type) {
        return type == boolean.class ? (Object) false : type == int.class ? (Object) 0 : null;
    }

    private interface Connecting {
        Connection connect() throws SQLException;
    }

    private interface Answering {
        Object answer(String method, Class<?> returnType);
    }
}
