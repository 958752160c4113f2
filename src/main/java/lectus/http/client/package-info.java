/**
 * Lectus as an HTTP client: requests to servers whose addresses others choose. What it is asked and
 * what it answers are types of the JDK, so that its users need no Vert.x.
 */
package lectus.http.client;
