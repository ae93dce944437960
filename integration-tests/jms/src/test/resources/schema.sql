create table ledger (id bigint generated always as identity primary key, queue varchar(20), entry varchar(100));
