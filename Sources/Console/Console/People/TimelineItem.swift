import AppleAccounts

/// One row of a person's time line.
struct TimelineItem: Sendable, Equatable {
    /// The class of the style sheet: how the row looks.
    enum Look: String, Sendable {
        case good, warn, bad
        case plain = ""
    }

    /// The two moments that the state rule has compared.
    struct Comparison: Sendable, Equatable {
        let revokedAt: Moment
        let authorizedAt: Moment
    }

    struct Fact: Sendable, Equatable {
        let name: String
        let value: String
        /// The value as the page has it before an operator asks to see it.
        let masked: String

        init(name: String, value: String, masked: String? = nil) {
            (self.name, self.value, self.masked) = (name, value, masked ?? value)
        }
    }

    let title: String
    let look: Look
    let app: ClientID?
    /// Apple's moment; `nil` when Apple sent none.
    let moment: Moment?
    /// By our clock.
    let recordedAt: Moment
    /// True if only the day of `recordedAt` is known.
    var hasDayAlone = false
    /// Its effect, in one sentence.
    let effect: String
    var comparison: Comparison?
    /// The facts that came.
    var facts: [Fact] = []
    /// The events that the backend got.
    var events: [AccountEvent] = []
}
