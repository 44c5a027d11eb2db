import KeySets

/// Checks that Apple's key set is usable.
struct KeySetCheck: DoctorCheck {
    static let name = "key set"

    let source: KeySource
    let response: AppleProbe.Response?

    func run() -> [Finding] {
        if case .pinned = source {
            return [
                .note(
                    Self.name, "pinned (APPLE_KEYS_FILE): Apple's new keys are not fetched",
                    advice:
                        "Apple changes its keys every few months: do not set APPLE_KEYS_FILE unless the service must "
                        + "work without a network.")
            ]
        }
        guard let response, response.status == 200 else {
            return [.skipped(Self.name, "Apple has not answered")]
        }
        do throws(PinnedKeySetError) {
            _ = try PinnedKeySet(parsing: response.body)
            return [.good(Self.name, "usable")]
        } catch {
            return [
                .wrong(
                    Self.name, "the response is not a usable key set (\(error.code.rawValue))",
                    advice: "A proxy or a captive portal may have answered; check the URL with curl.")
            ]
        }
    }
}
