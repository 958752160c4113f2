package lectus.database;

import lectus.store.Versionstamp;

/**
 * One life of a database, as listed in the catalogue.
 *
 * @param prefix of its keys
 * @param joined when it began, in the store's commit order, before everything written to it
 */
public record DatabaseInstance(
    DatabaseName name, InstanceId instance, byte[] prefix, Versionstamp joined) {}
