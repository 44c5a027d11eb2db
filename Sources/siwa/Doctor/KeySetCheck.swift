import KeySets

/// Whether identity tokens can be verified.
struct KeySetCheck: DoctorCheck {
    static let name = "key set"

    let source: KeySource
    let answer: AppleProbe.Answer?

    func examine() -> [Finding] {
        if case .pinned = source {
            return [
                .note(
                    Self.name, "pinned (APPLE_KEYS_FILE): Apple's new keys are not picked up",
                    advice:
                        "Apple changes its keys every few months: leave APPLE_KEYS_FILE out unless this must "
                        + "work without a network.")
            ]
        }
        guard let answer, answer.status == 200 else { return [.skipped(Self.name, "Apple has not answered")] }
        do throws(PinnedKeySetError) {
            _ = try PinnedKeySet(parsing: answer.body)
            return [.good(Self.name, "usable")]
        } catch {
            return [
                .wrong(
                    Self.name, "what came is no usable key set (\(error.code.rawValue))",
                    advice: "A proxy or a captive portal may answer in Apple's place; look at it with curl.")
            ]
        }
    }
}
