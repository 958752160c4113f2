/**
 * Who asks, and what a database's security object lets him do: values. Must not know how one logs
 * in, nor the store.
 */
package lectus.access;
