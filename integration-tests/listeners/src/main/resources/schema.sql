create table ledger (id bigint generated always as identity primary key, destination varchar(20), entry varchar(100));
