extension AuthorizeTexts {
    static let polish = AuthorizeTexts(
        consent: Consent(
            title: "{client} prosi o dostęp do Twojego konta {app}",
            titleForFirstParty: "Zaloguj się do aplikacji {client}",
            titleForGoogle: "Połącz swoje konto {app} z Google",
            signedInAs: "Zalogowano jako",
            withoutName: "Twoje konto, bez imienia, nazwiska i adresu e-mail",
            useAnotherAccount: "Użyj innego konta",
            loginHint: "{client} proponuje konto {hint}. Upewnij się, że używasz właściwego konta.",
            purposeForGoogle:
                "Twoje konto {app} zostanie połączone z Google, aby można było z niego korzystać w aplikacjach i na urządzeniach Google.",
            scopes: "{client} otrzyma uprawnienia:",
            optionalScopes: "Odznacz to, na co nie chcesz się zgodzić.",
            emailHidden:
                "Twój własny adres pozostanie ukryty. Udostępniony zostanie tylko adres przekierowujący: {email}",
            emailUnknown: "Żaden adres nie jest tu znany, więc żaden nie zostanie udostępniony.",
            emailNotShared: "{client} nie otrzyma Twojego adresu e-mail.",
            googlePolicy: "{policy} opisuje, jak Google używa tych danych.",
            googlePolicyName: "Polityka prywatności Google",
            authorizationForGoogle:
                "Wybierając „{agree}”, upoważniasz Google do dostępu do Twojego konta i do sterowania tym, co do niego należy, w zakresie podanym powyżej.",
            unlinkFromGoogle:
                "Połączenie możesz w każdej chwili usunąć: w aplikacji albo na swoim koncie Google w sekcji {connections}.",
            googleConnectionsName: "Aplikacje i usługi innych firm",
            unlink:
                "Dostęp możesz w każdej chwili zakończyć w aplikacji. Jeśli przestaniesz używać w niej konta Apple, wygasną wszystkie uprawnienia dostępu, także to.",
            returnsTo: "Potem wrócisz do {target}.",
            returnsToProgram:
                "Potem wrócisz do programu na tym komputerze, który otworzył tę stronę ({target}).",
            agreeAndLink: "Zaakceptuj i połącz",
            allow: "Zezwól",
            goOn: "Kontynuuj",
            cancel: "Anuluj"),
        refusals: Refusals(
            unknownClient: Refusal(
                title: "Ta aplikacja nie jest tu znana",
                reason: "Link wskazuje aplikację (client_id), która nie jest zarejestrowana w tej usłudze.",
                advice:
                    "Wróć do aplikacji i spróbuj ponownie. Jeśli tworzysz tę aplikację, porównaj client_id z konfiguracją tej usługi."
            ),
            redirectURIMismatch: Refusal(
                title: "Ten link prowadzi w niewłaściwe miejsce",
                reason:
                    "Link chce wrócić pod adres (redirect_uri), który nie jest zarejestrowany dla tej aplikacji.",
                advice:
                    "Dla bezpieczeństwa zostajesz tutaj. Jeśli tworzysz tę aplikację, zarejestruj dokładnie ten adres, z tymi samymi literami, portem i ścieżką."
            ),
            requestMalformed: Refusal(
                title: "Ten link jest niekompletny",
                reason:
                    "Link musi podawać aplikację (client_id) i adres powrotu (redirect_uri), każde z nich dokładnie raz.",
                advice:
                    "Wróć do aplikacji i spróbuj ponownie. Jeśli tworzysz tę aplikację, sprawdź parametry linku."
            ),
            embeddedBrowser: Refusal(
                title: "Otwórz tę stronę w przeglądarce",
                reason:
                    "Ta strona jest wyświetlana wewnątrz innej aplikacji, która może odczytać to, co wpisujesz. Potrzebna jest Twoja przeglądarka, na przykład Safari lub Chrome.",
                advice:
                    "W menu tej aplikacji wybierz „Otwórz w przeglądarce” albo skopiuj ten adres do przeglądarki:"
            ),
            formRefused: Refusal(
                title: "Tego formularza nie można już użyć",
                reason: "Należy do innego logowania lub innej prośby albo został zmieniony.",
                advice: "Nic nie zostało udostępnione. Zacznij od nowa, aby zobaczyć, o co prosi aplikacja."),
            signInNeeded: Refusal(
                title: "Zaloguj się ponownie",
                reason: "Sesja wygasła albo ta aplikacja nie jest już połączona z Twoim kontem Apple.",
                advice:
                    "Nic nie zostało udostępnione. Aby kontynuować, zaloguj się ponownie, używając konta Apple."
            ),
            accountDisabled: Refusal(
                title: "To konto jest zablokowane",
                reason: "Twórcy aplikacji zablokowali Twoje konto, więc nie możesz się na nie zalogować.",
                advice:
                    "Nic nie zostało udostępnione. Jeśli uważasz, że to pomyłka, zapytaj twórców aplikacji."
            ),
            otherBrowser: Refusal(
                title: "Kontynuuj w przeglądarce, w której zaczęło się logowanie",
                reason:
                    "To logowanie rozpoczęto w innej przeglądarce albo ta przeglądarka nie przechowuje plików cookie.",
                advice:
                    "Nic nie zostało udostępnione. Otwórz tamtą przeglądarkę albo wróć do aplikacji lub witryny i zaloguj się ponownie."
            ),
            signInOver: Refusal(
                title: "To logowanie już się zakończyło",
                reason: "Rozpoczęto je ponad dziesięć minut temu albo zostało już ukończone.",
                advice: "Wróć do aplikacji lub witryny, z której przychodzisz, i zaloguj się ponownie."),
            signInUnknown: Refusal(
                title: "To logowanie nie jest tu znane",
                reason: "Nie rozpoczęto go tutaj albo jego adres zmienił się po drodze.",
                advice: "Wróć do aplikacji lub witryny, z której przychodzisz, i zaloguj się ponownie."),
            requestUnreadable: Refusal(
                title: "Tej strony nie można otworzyć w ten sposób",
                reason: "Ta strona nie odpowiada na takie żądania.",
                advice: "Wróć do aplikacji lub witryny, z której przychodzisz, i spróbuj ponownie."),
            unavailable: Refusal(
                title: "Usługa jest chwilowo niedostępna",
                reason: "Usługa nie może teraz odpowiedzieć.",
                advice: "Odczekaj minutę, a potem wróć do aplikacji lub witryny i spróbuj ponownie."),
            failed: Refusal(
                title: "Coś poszło nie tak",
                reason: "Usługa nie mogła dokończyć Twojego żądania. To nie Twoja wina.",
                advice: "Spróbuj ponownie. Jeśli to się powtórzy, podaj twórcom aplikacji poniższy kod."),
            pageUnknown: Refusal(
                title: "Nie ma takiej strony",
                reason: "Adres donikąd nie prowadzi. Może zawierać błąd albo być nieaktualny.",
                advice: "Sprawdź adres albo wróć na poprzednią stronę."),
            linkOfApp: Refusal(
                title: "Ten link otwiera się w aplikacji",
                reason:
                    "Może na niego odpowiedzieć tylko aplikacja na Twoim telefonie lub tablecie, a nie przeglądarka.",
                advice:
                    "Wróć do aplikacji Google i zacznij łączenie od nowa. Bez aplikacji łączenie będzie kontynuowane w przeglądarce."
            )
        ),
        errorCode: "Kod błędu: {code}",
        startAgain: "Zacznij od nowa",
        backToClient: "Wróć do {client}")
}
