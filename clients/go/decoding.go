package siwa

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time of siwa. Its JSON is RFC 3339 in UTC with exactly three digits of a second, as siwa writes it: apps
// with a formatter for such fractions cannot read the shorter forms that time.Time writes.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + timeText(t.Time) + `"`), nil
}

// UnmarshalJSON implements json.Unmarshaler. It accepts only the form that siwa writes.
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return t.read(text)
}

func (t *Time) read(text string) error {
	moment, err := time.Parse(timeLayout, text)
	// Parse also accepts a comma and hours of one digit.
	if err != nil || timeText(moment) != text {
		return fmt.Errorf("expected a time in UTC with milliseconds, found %q", text)
	}
	t.Time = moment
	return nil
}

func timeText(moment time.Time) string {
	return moment.UTC().Format(timeLayout)
}

func decoded[Model any](value map[string]any) (*Model, error) {
	model := new(Model)
	if err := decode(value, reflect.ValueOf(model).Elem()); err != nil {
		return nil, &Error{Code: "unexpected_response", Detail: err.Error()}
	}
	return model, nil
}

// decode reads a model from the JSON of object. It skips unknown members, and refuses a missing member and a member of
// another type. encoding/json would leave a missing member empty, and accept names in any case.
func decode(value any, target reflect.Value) error {
	switch value := value.(type) {
	case map[string]any:
		if target.Kind() == reflect.Struct && target.Type() != reflect.TypeOf(Time{}) {
			return decodeMembers(value, target)
		}
	case []any:
		if target.Kind() == reflect.Slice {
			target.Set(reflect.MakeSlice(target.Type(), len(value), len(value)))
			for index, element := range value {
				if err := decode(element, target.Index(index)); err != nil {
					return err
				}
			}
			return nil
		}
	case string:
		if moment, isTime := target.Addr().Interface().(*Time); isTime {
			return moment.read(value)
		}
		if target.Kind() == reflect.String {
			target.SetString(value)
			return nil
		}
	case bool:
		if target.Kind() == reflect.Bool {
			target.SetBool(value)
			return nil
		}
	case json.Number:
		if number, err := value.Int64(); err == nil && target.Kind() == reflect.Int64 {
			target.SetInt(number)
			return nil
		}
	}
	return fmt.Errorf("expected %s, found %T", target.Type(), value)
}

func decodeMembers(members map[string]any, target reflect.Value) error {
	for index := 0; index < target.NumField(); index++ {
		name, option, _ := strings.Cut(target.Type().Field(index).Tag.Get("json"), ",")
		member, field := members[name], target.Field(index)
		if member == nil && option == "omitempty" {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		if err := decode(member, field); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
