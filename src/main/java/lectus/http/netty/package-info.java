/** What Vert.x keeps to itself: the Netty channel below a connection, and frames made of bytes. */
package lectus.http.netty;
