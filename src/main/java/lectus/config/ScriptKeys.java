package lectus.config;

import java.util.List;

/** Where functions of design documents run. */
public final class ScriptKeys {
  static final KeySection SECTION = new KeySection("Functions of design documents");

  static final ConfigurationKey<String> ENGINE =
      SECTION.key(
          "scripts.engine",
          ValueType.oneOf(List.of("auto", "v8", "rhino")),
          "auto",
          """
          v8 is fast and knows all of JavaScript; rhino lacks some of it and runs
          everywhere. auto: v8 where there is a library for it.
          """);

  static final ConfigurationKey<Integer> PROCESSES =
      SECTION.number(
          "scripts.processes",
          1,
          1,
          64,
          """
          How many child processes run functions for which a client waits, and how many
          others run those of views; slow functions have one more of each. Where there is
          too little memory for all, both share what there is room for. They start when
          they are needed and end after a minute without work.
          """);

  static final ConfigurationKey<Long> HEAP_MEGABYTES =
      SECTION.chosenNumber(
          "scripts.heap-megabytes",
          8,
          4_096,
          """
          The memory of JavaScript in each child process, which takes up to four times as
          much and 64 MB in all. 0: 64, or what heap and store leave of the machine's (or
          the container's) memory; if that is less than 96 MB for a child, functions do
          not run.
          """);

  public static final ConfigurationKey<Integer> TIMEOUT_SECONDS =
      SECTION.number(
          "scripts.timeout-seconds", 5, 1, 300, "How long a function may run for one document.");

  public static final ConfigurationKey<String> VIEWS_FOLLOW =
      SECTION.key(
          "views.follow",
          ValueType.oneOf(List.of("all", "used", "none")),
          "all",
          """
          Which views are brought up to date in the background when documents change, so
          that queries need not wait. used: those that a query has asked for since their
          functions were defined.
          """);

  private ScriptKeys() {}
}
