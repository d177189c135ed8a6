-- Format 9: the names that earlier versions gave to services, and API keys of one account.

-- From the name to the identity that the service has now (`provider::service_identity`). The name is part of the keys of that time.
CREATE TABLE service_aliases (
    alias    TEXT PRIMARY KEY,
    service  TEXT NOT NULL
) STRICT;

-- API keys of the same account as another one, by their digests: the service showed `task`, submitted with that one, to this one.
CREATE TABLE linked_accounts (
    service  TEXT NOT NULL,
    account  TEXT NOT NULL,
    same_as  TEXT NOT NULL,
    task     TEXT NOT NULL,
    time     INTEGER NOT NULL,
    PRIMARY KEY (service, account)
) STRICT;
