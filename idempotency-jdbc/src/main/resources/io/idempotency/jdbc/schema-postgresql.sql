create table if not exists idempotency_record (
    id             bytea        not null,
    record_version smallint     not null,
    operation      varchar(190) not null,
    state          char(1)      not null,
    guarantee      char(1)      not null,
    owner          uuid,
    token          bigint       not null,
    fingerprint    varchar(100),
    created_at     bigint       not null,
    completed_at   bigint,
    lease_until    bigint,
    expires_at     bigint       not null,
    result         bytea,
    constraint idempotency_record_pk primary key (id)
);

create index if not exists idempotency_record_expires_at on idempotency_record (expires_at);
