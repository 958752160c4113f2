/** The format gzip (RFC 1952), written and read part by part. */
package lectus.gzip;
