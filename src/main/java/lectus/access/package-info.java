/**
 * Who asks, and with which rights by a database's security object: values. Must not know how one
 * logs in, nor the store.
 */
package lectus.access;
