package import AppleAccounts

/// An attempt that a receiver did not take.
package struct DeliveryFailure: Sendable, Hashable {
    package let moment: Moment
    /// The words of the log. They have nothing of the event and of the response.
    package let text: String

    package init(moment: Moment, text: String) {
        (self.moment, self.text) = (moment, text)
    }
}
