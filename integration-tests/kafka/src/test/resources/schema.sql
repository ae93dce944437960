create table ledger (id bigint generated always as identity primary key, topic varchar(20), entry varchar(100));
