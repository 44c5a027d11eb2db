import Testing

@testable import PostgresStorage

/// The wait of a start for a server that is not up yet.
@Suite struct ServerWaitTests {
    private enum Look {
        case gone(Duration)
        case there(Duration)
    }

    /// Returns the decision after each failed attempt.
    private static func decisions(_ looks: [Look], patience: Duration = .seconds(30)) -> [Bool] {
        let start = ContinuousClock.now
        var wait = ServerWait(patience: patience, from: start)
        return looks.map { look in
            switch look {
            case .gone(let time): wait.goesOn(isServerThere: false, at: start + time)
            case .there(let time): wait.goesOn(isServerThere: true, at: start + time)
            }
        }
    }

    @Test(arguments: [1, 5, 12, 20, 29, 31])
    func `a server that comes up after the attempt failed gets another attempt`(seconds: Int) {
        let before = (0..<min(seconds, 30)).map { Look.gone(.seconds($0)) }
        // The attempt got "Connection refused", and a moment later the server accepts connections.
        let after: [Look] = [
            .there(.seconds(seconds)), .there(.seconds(seconds) + .milliseconds(500)),
        ]
        #expect(!Self.decisions(before + after).contains(false))
    }

    @Test func `a server that refuses us is not waited for longer than three seconds`() {
        let decisions = Self.decisions([
            .gone(.zero), .there(.seconds(10)), .there(.milliseconds(12_999)), .there(.seconds(13)),
        ])
        #expect(decisions == [true, true, true, false])
    }

    @Test func `a server that does not come up ends the wait at its time`() {
        #expect(Self.decisions([.gone(.milliseconds(29_999)), .gone(.seconds(30))]) == [true, false])
    }

    @Test func `a server that goes away again is waited for anew`() {
        let decisions = Self.decisions([.there(.seconds(1)), .gone(.seconds(5)), .there(.seconds(9))])
        #expect(decisions == [true, true, true])
    }

    @Test func `without patience the first failure is the result`() {
        #expect(Self.decisions([.there(.zero)], patience: .zero) == [false])
        #expect(Self.decisions([.gone(.zero)], patience: .zero) == [false])
    }
}
