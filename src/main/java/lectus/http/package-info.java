/**
 * What a server hands to its HTTP interface: services to answer with, and what its administrator
 * decided. What uses them are the packages below.
 */
package lectus.http;
