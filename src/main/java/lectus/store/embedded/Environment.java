package lectus.store.embedded;

import java.util.concurrent.ScheduledExecutorService;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import lectus.store.embedded.engine.Engine;

/**
 * The environment that all transactions of a database share.
 *
 * @param timer runs back-offs, time-outs and waits for read versions
 * @param random evenly distributed over [0, 1), for back-offs
 * @param nanoTime a clock like {@link System#nanoTime()}
 */
record Environment(
    Engine engine,
    ScheduledExecutorService timer,
    DoubleSupplier random,
    LongSupplier nanoTime,
    DatabaseSettings settings,
    Watches watches,
    OpenState open) {}
