package lectus.database;

import lectus.store.Versionstamp;

/**
 * One life of a database, as the catalogue lists it.
 *
 * @param joined when it began, in the order of all commits of the store: everything written to it
 *     comes behind
 */
public record DatabaseLife(DatabaseName name, InstanceId instance, Versionstamp joined) {}
