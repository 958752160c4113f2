/** What is counted of requests and of live feeds. Whose they are is not known here. */
package lectus.http.count;
