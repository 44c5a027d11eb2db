import TestSupport
import Testing

@testable import SignIn

@Suite(.timeLimit(.hung)) struct WakeupSignalTests {
    let signal = WakeupSignal()
    let clock = ManualClock()

    @Test func `keeps a ring for who comes later, and two are one`() async {
        signal.wake()
        signal.wake()
        await signal.wait(atMost: nil, on: clock)
        let second = Task { [signal, clock] in await signal.wait(atMost: .seconds(5), on: clock) }
        await clock.sleeper()
        clock.advance(by: .seconds(5))
        await second.value
    }

    @Test func `wakes who waits`() async {
        let waiting = Task { [signal, clock] in await signal.wait(atMost: .seconds(3600), on: clock) }
        await clock.sleeper()
        signal.wake()
        await waiting.value
    }

    @Test func `ends with the task, and leaves the ring to the next`() async {
        let cancelled = Task { [signal, clock] in await signal.wait(atMost: nil, on: clock) }
        cancelled.cancel()
        await cancelled.value
        signal.wake()
        await signal.wait(atMost: nil, on: clock)
    }
}
