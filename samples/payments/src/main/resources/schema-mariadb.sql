create table if not exists account (
    name varchar(64) character set utf8mb4 collate utf8mb4_bin primary key,
    balance numeric(19, 2) not null
);

create table if not exists payment (
    id bigint auto_increment primary key,
    account varchar(64) not null,
    amount numeric(19, 2) not null,
    currency char(3) not null,
    status varchar(16) not null,
    created_at timestamp(3) not null default current_timestamp(3)
);
