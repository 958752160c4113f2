/**
 * Opens a store and runs transactions on it. The layer above uses only fdb-java's interfaces and
 * this package.
 */
package lectus.store;
