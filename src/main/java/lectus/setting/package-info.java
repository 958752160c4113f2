/**
 * Settings that are changed while servers run: the rows of the store, and what a server makes of
 * them. They have CouchDB's names. What they mean is not known here.
 */
package lectus.setting;
