/**
 * A database for newcomers, loaded over HTTP as any client would: neither the server nor the store
 * is known here.
 */
package lectus.sample;
