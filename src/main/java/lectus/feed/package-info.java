/**
 * What all feeds share: sources that are read live, page by page, and what their pages consist of;
 * who tells that there is something new, and who is handed the rows. Neither sockets nor HTTP are
 * known here.
 */
package lectus.feed;
