/**
 * Live feeds of one event loop: listeners that read on their own or share a tail, and the forms in
 * which rows reach a client. ARCHITECTURE.md, "Live feeds".
 */
package lectus.http.live;
