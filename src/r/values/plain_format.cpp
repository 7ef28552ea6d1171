// SPDX-License-Identifier: MIT
#include "r/values/plain_format.h"

#include <clocale>
#include <memory>
#include <string>

#include "r/values/serialization.h"

namespace nodelay {

Bytes plain_format_header() {
  static std::string locale;
  static std::shared_ptr<const Buffer> null;
  const char* current = std::setlocale(LC_CTYPE, nullptr);
  if (!null || locale != current) {
    null = serialize_by_r(R_NilValue, Encoding::native);
    locale = current;
  }
  return null->bytes().first(null->size() - sizeof kNullItem);
}

}  // namespace nodelay
