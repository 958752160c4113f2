/**
 * Opens a store and runs transactions on it. Also leases, by which one server at a time does a task
 * of the store. The layer uses only fdb-java's interfaces and this package.
 */
package lectus.store;
