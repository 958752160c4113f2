/**
 * Brings databases of earlier versions up to the current format, before a server begins to serve.
 * Nothing here runs while a server serves.
 */
package lectus.document.upgrade;
