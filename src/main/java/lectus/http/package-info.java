/**
 * What a server hands to its HTTP interface: services to answer with, and what its administrator
 * decided.
 */
package lectus.http;
