/**
 * Opening a store and running transactions on it. The layer above is written against fdb-java's
 * interfaces alone; what it needs beside them is here.
 */
package lectus.store;
