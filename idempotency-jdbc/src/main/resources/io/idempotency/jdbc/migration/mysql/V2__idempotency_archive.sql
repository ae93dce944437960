create table idempotency_archive (
    id             binary(32)   not null,
    record_version smallint     not null,
    operation      varchar(190) not null,
    state          char(1)      not null,
    guarantee      char(1)      not null,
    owner          binary(16),
    token          bigint       not null,
    fingerprint    varchar(100),
    created_at     bigint       not null,
    completed_at   bigint,
    lease_until    bigint,
    expires_at     bigint       not null,
    result         longblob,
    archived_at    bigint       not null,
    archived_on    date         not null,
    constraint idempotency_archive_pk primary key (archived_on, id, archived_at)
) engine = InnoDB, character set = utf8mb4, collate = utf8mb4_bin;
