package lectus.document;

/** What is to be written for one document, all reads and checks behind it. */
sealed interface PlannedUpdate permits DocumentUpdate, LocalEdit {}
