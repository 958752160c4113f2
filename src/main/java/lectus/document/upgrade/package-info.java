/**
 * Brings databases of earlier versions up to the current format, before a server begins to serve.
 */
package lectus.document.upgrade;
