import AppAttestation
import Testing

@Suite struct AppAttestationStepTests {
    @Test func `every code belongs to a step, and every step has a code`() {
        let steps = Set(AppAttestationError.Code.allCases.map(\.step))
        #expect(steps == Set(AppAttestationStep.allCases))
    }

    @Test func `both kinds together have every step`() {
        let steps = AppAttestationKind.allCases.flatMap { AppAttestationStep.steps(for: $0) }
        #expect(Set(steps) == Set(AppAttestationStep.allCases))
    }

    @Test func `an error shows what it found only to a debugger`() {
        let error = AppAttestationError(.appIDMismatch, found: "a secret", expected: "another")
        #expect(!"\(error)".contains("secret") && error.debugDescription.contains("secret"))
        #expect(error.step == .appID)
    }
}
