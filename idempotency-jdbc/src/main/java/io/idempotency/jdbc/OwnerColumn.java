package io.idempotency.jdbc;

import io.idempotency.spi.Owner;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** How a database keeps an owner. */
enum OwnerColumn {

    /** In a type of its own. */
    UUID_TYPE {
        @Override
        void bind(PreparedStatement statement, int index, @Nullable Owner owner) throws SQLException {
            if (owner == null) {
                statement.setNull(index, Types.OTHER);
            } else {
                statement.setObject(index, owner.value());
            }
        }

        @Override
        @Nullable
        Owner read(ResultSet rows, int index) throws SQLException {
            UUID value = rows.getObject(index, UUID.class);
            return value == null ? null : new Owner(value);
        }
    },

    /** In sixteen bytes. */
    BYTES {
        @Override
        void bind(PreparedStatement statement, int index, @Nullable Owner owner) throws SQLException {
            if (owner == null) {
                statement.setNull(index, Types.BINARY);
            } else {
                UUID value = owner.value();
                statement.setBytes(
                        index,
                        ByteBuffer.allocate(LENGTH)
                                .putLong(value.getMostSignificantBits())
                                .putLong(value.getLeastSignificantBits())
                                .array());
            }
        }

        @Override
        @Nullable
        Owner read(ResultSet rows, int index) throws SQLException {
            byte[] bytes = rows.getBytes(index);
            if (bytes == null || bytes.length != LENGTH) {
                return null;
            }
            ByteBuffer value = ByteBuffer.wrap(bytes);
            return new Owner(new UUID(value.getLong(), value.getLong()));
        }
    };

    private static final int LENGTH = 16;

    abstract void bind(PreparedStatement statement, int index, @Nullable Owner owner) throws SQLException;

    @Nullable
    abstract Owner read(ResultSet rows, int index) throws SQLException;
}
