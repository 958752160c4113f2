/**
 * The figures of all parts of a server and of its JVM, collected and written as Prometheus reads
 * them. Nothing else knows Micrometer. The forms of the log's lines, and what they say of the
 * request that they are about. Nothing that a client sends can begin a line or end it. What parts
 * of a server count while they run. Counting allocates nothing and never waits. Who shows the
 * figures, and how, is not known here. What a server does beside answering requests, for those who
 * want to see it. Who shows it is not known here.
 */
package lectus.metrics;
