/**
 * A sample database for newcomers, loaded over HTTP like any client would. Must not know the server
 * or the store.
 */
package lectus.sample;
